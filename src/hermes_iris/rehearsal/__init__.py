"""A model to rehearse with: it answers by script, so that the app can be tried without an API key.

`script.reply` is pure (request in, reply out); `server` is the loopback socket around it. Nothing here thinks, and
every text that a person sees says so.
"""
