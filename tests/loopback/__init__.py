"""A server on the loopback address that speaks the providers' wire protocols."""
