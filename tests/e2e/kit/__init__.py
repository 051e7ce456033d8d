"""What the end-to-end tests are made of: upstreams that misbehave on purpose, clients, proxies, certificates, weir itself."""
