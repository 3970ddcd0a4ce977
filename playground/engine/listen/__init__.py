"""Listen: a proxy on loopback that passes the requests of another program on to a gateway, and records them."""
