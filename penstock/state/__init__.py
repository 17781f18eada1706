"""What outlives a step: containers of named resources, and the kinds of state kept in them."""
