"""What travels between a device and the gateway. Pure: values and functions, no I/O."""
