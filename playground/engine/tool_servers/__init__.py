"""Tool servers (Model Context Protocol): set up, confirmed, started, asked, watched; never spoken to from here."""
