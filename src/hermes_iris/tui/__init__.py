"""`iris chat`: Iris in a terminal. Only `app` and `widgets` know Textual; the rest is pure, but for `session`."""
