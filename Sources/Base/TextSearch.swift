extension StringProtocol {
  /// Whether the bytes of `part` stand anywhere in this text. The standard library's `contains` for texts brings its engine
  /// for regular expressions along, a megabyte of program.
  package func holds(_ part: String) -> Bool {
    let (bytes, part) = (Array(utf8), Array(part.utf8))
    guard part.count <= bytes.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
  }
}
