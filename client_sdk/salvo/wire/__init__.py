"""What both sides of the protocol agree on: topics, who may use them, sealed blobs, and the shape of messages."""
