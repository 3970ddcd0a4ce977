"""What happens when something in the program itself goes wrong: a report without secrets, and a calm word about it."""
