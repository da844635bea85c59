"""What people look at: how boards are drawn, wherever that is."""
