extension StringProtocol {
  /// Whether this text contains the bytes of `part`. The standard library's `contains` for texts would link its regular
  /// expression engine, a megabyte of program.
  package func holds(_ part: String) -> Bool {
    let (bytes, part) = (Array(utf8), Array(part.utf8))
    guard part.count <= bytes.count else { return false }
    return (0...(bytes.count - part.count)).contains { bytes[$0...].starts(with: part) }
  }

  /// This text with each occurrence of the bytes of `part`, which must not be empty, replaced by `other`.
  package func replacing(_ part: String, by other: String) -> String {
    let part = Array(part.utf8)
    var (rest, result) = (Array(utf8)[...], [UInt8]())
    while let byte = rest.first {
      let isPart = rest.starts(with: part)
      result += isPart ? Array(other.utf8) : [byte]
      rest = rest.dropFirst(isPart ? part.count : 1)
    }
    return String(decoding: result, as: UTF8.self)
  }
}

extension ArraySlice<UInt8> {
  /// The bytes after the UTF-8 byte order mark with which some editors begin a text; all of them if there is none.
  package func droppingByteOrderMark() -> ArraySlice<UInt8> { starts(with: [0xEF, 0xBB, 0xBF]) ? dropFirst(3) : self }
}
