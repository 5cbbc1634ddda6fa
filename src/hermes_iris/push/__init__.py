"""Calls to devices through their push services (Web Push: RFC 8030, 8188, 8291, 8292).

`herald` knows whom to call, `sender` queues and tries again, `post` is one delivery over HTTP to an `endpoint` that was
looked at, encrypted by `cipher` and signed by `vapid`. All but `herald` and `sender` need the extra `push`.
"""
