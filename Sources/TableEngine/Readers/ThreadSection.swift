/// What the calling thread is doing with a table.
public enum ThreadSection: Sendable { case none, read, barrier }
