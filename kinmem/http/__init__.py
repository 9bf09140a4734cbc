"""HTTP: who may ask, for whose memory, how much at once, and how a server begins and ends."""
