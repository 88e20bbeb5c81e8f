/// What `shmd --version` says.
public let shmdVersion = "0.1.0"
