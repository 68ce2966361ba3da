/// The name of an engine or the path of its library, and where the command line gives it.
public struct EngineReference: Sendable, Hashable {
  /// The name, or a path that contains a slash and is relative to the current directory.
  public let text: String
  /// The option or argument that gives it, such as "--from".
  public let flag: String

  /// The engine that `text`, the value of `flag`, names.
  public init(_ text: String, flag: String) {
    self.text = text
    self.flag = flag
  }
}
