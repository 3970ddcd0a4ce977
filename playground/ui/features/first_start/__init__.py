"""What meets a person who opens the application for the first time: samples, a guide, a way to a gateway."""
