"""Files of other programs, and what must become of them."""
