"""The meeting room: agents and their person in one XMPP multi-user chat."""
