"""What a mosquitto needs to carry a contest: its configuration, and accounts that change at run time."""
