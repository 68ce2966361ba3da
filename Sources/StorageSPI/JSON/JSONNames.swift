/// The names of an object's members, made ready to be compared with a document.
///
/// Make them once, as a constant: that costs about as much as reading one object.
public struct JSONNames: Sendable {
  private let names: [String]
  /// Each name in quotes, with the colon behind it, one after another.
  private let quoted: [UInt8]
  /// Where each of these ends in `quoted`.
  private let ends: [Int]

  /// The names `names`, in the order in which documents mostly have them.
  public init(_ names: [String]) {
    var (quoted, ends) = ([UInt8](), [Int]())
    for name in names {
      JSONString.append(name, to: &quoted)
      quoted.append(UInt8(ascii: ":"))
      ends.append(quoted.count)
    }
    (self.names, self.quoted, self.ends) = (names, quoted, ends)
  }

  /// The place of `name` among them; `nil` where it is none of them.
  func index(of name: String) -> Int? {
    for index in names.indices where names[index] == name { return index }
    return nil
  }

  /// The number of bytes that the name number `index` takes at the beginning of `text`, in quotes and with the colon;
  /// `nil` where something else is there, or there is no such name. The bytes of `text` end with a zero.
  func length(of index: Int, in text: UnsafePointer<UInt8>) -> Int? {
    guard index < ends.count else { return nil }
    let start = index == 0 ? 0 : ends[index - 1]
    let length = ends[index] - start
    return quoted.withUnsafeBufferPointer { quoted in
      for offset in 0..<length where text[offset] != quoted[start + offset] {
        return nil
      }
      return length
    }
  }
}

extension JSONReader {
  /// Reads the name of a member and the colon behind it.
  ///
  /// - Parameter next: which of `names` is the most likely.
  /// - Returns: the place of the name among `names`; `nil` where it is none of them.
  @usableFromInline
  mutating func name(among names: JSONNames, _ next: Int) throws(Failure) -> Int? {
    if let length = names.length(of: next, in: bytes.start + offset) {
      offset += length
      return next
    }
    let name = try string()
    try expect(UInt8(ascii: ":"))
    return names.index(of: name)
  }
}
