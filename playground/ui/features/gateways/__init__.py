"""Setting up gateways: address, key, headers, time-outs, and a test of them."""
