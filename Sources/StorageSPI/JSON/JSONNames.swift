/// The names of an object's members, made ready to be compared with a document eight bytes at a time.
///
/// Make them once, as a constant: that costs about as much as reading one object.
public struct JSONNames: Sendable {
  /// Up to eight bytes of a name, and which of the bits count.
  private struct Word {
    let bits: UInt64
    let mask: UInt64
  }

  private let names: [String]
  /// Each name in quotes, with the colon behind it, one after another; each begins with a word of its own.
  private let words: [Word]
  /// The number of bytes of each of these, and where its words begin.
  private let places: [(start: Int, length: Int)]

  /// The names `names`, in the order in which documents mostly have them.
  public init(_ names: [String]) {
    var (words, places) = ([Word](), [(start: Int, length: Int)]())
    for name in names {
      var quoted: [UInt8] = []
      JSONString.append(name, to: &quoted)
      quoted.append(UInt8(ascii: ":"))
      places.append((words.count, quoted.count))
      for start in stride(from: 0, to: quoted.count, by: 8) { words.append(Self.word(quoted[start...].prefix(8))) }
    }
    (self.names, self.words, self.places) = (names, words, places)
  }

  private static func word(_ bytes: ArraySlice<UInt8>) -> Word {
    let bits = bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Word(bits: bits, mask: bytes.count == 8 ? .max : 1 << UInt64(bytes.count * 8) - 1)
  }

  /// The place of `name` among them; `nil` where it is none of them.
  func index(of name: String) -> Int? {
    for index in names.indices where names[index] == name { return index }
    return nil
  }

  /// The number of bytes that the name number `index` takes at `offset`, in quotes and with the colon; `nil` where
  /// something else is there, or there is no such name.
  @inline(__always)
  func length(of index: Int, in bytes: JSONBytes, at offset: Int) -> Int? {
    guard index < places.count else { return nil }
    let (start, length) = places[index]
    var (word, place) = (start, offset)
    // A word is loaded only where all bytes before it are those of the name: so none begins behind the zeros.
    while place < offset + length {
      guard (bytes.word(at: place) ^ words[word].bits) & words[word].mask == 0 else { return nil }
      (word, place) = (word + 1, place + 8)
    }
    return length
  }
}

extension JSONReader {
  /// Reads the name of a member and the colon behind it.
  ///
  /// - Parameter next: which of `names` is the most likely.
  /// - Returns: the place of the name among `names`; `nil` where it is none of them.
  @usableFromInline
  mutating func name(among names: JSONNames, _ next: Int) throws(Failure) -> Int? {
    if let length = names.length(of: next, in: bytes, at: offset) {
      offset += length
      return next
    }
    let name = try string()
    try expect(UInt8(ascii: ":"))
    return names.index(of: name)
  }
}
