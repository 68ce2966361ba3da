/// The names of an object's members, made ready to be compared with a document eight bytes at a time.
///
/// Make them once, as a constant: that costs about as much as reading one object.
public struct JSONNames: Sendable {
  /// A name in quotes, with the colon behind it, and which of the bits count; of length zero where it is too long.
  private struct Pattern {
    var bits: (UInt64, UInt64, UInt64) = (0, 0, 0)
    var mask: (UInt64, UInt64, UInt64) = (0, 0, 0)
    var length = 0

    init(_ name: String) {
      var bytes: [UInt8] = []
      JSONString.append(name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      guard bytes.count <= JSONBytes.padding else { return }
      length = bytes.count
      let rest = [UInt8](repeating: 0, count: JSONBytes.padding - bytes.count)
      bits = Self.words(bytes + rest)
      mask = Self.words(bytes.map { _ in .max } + rest)
    }

    private static func words(_ bytes: [UInt8]) -> (UInt64, UInt64, UInt64) {
      (word(bytes[0..<8]), word(bytes[8..<16]), word(bytes[16..<24]))
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
      bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
  }

  private let names: [String]
  private let patterns: [Pattern]

  /// The names `names`, in the order in which documents mostly have them.
  public init(_ names: [String]) {
    self.names = names
    patterns = names.map { Pattern($0) }
  }

  /// The place of `name` among them; `nil` where it is none of them.
  func index(of name: String) -> Int? {
    for index in names.indices where names[index] == name { return index }
    return nil
  }

  /// The number of bytes that the name number `index` takes at `offset`, in quotes and with the colon; zero where
  /// something else is there, or it cannot be told so fast.
  @inline(__always)
  func length(of index: Int, in bytes: JSONBytes, at offset: Int) -> Int {
    guard index < patterns.count else { return 0 }
    let pattern = patterns[index]
    let difference =
      (bytes.word(at: offset) ^ pattern.bits.0) & pattern.mask.0
      | (bytes.word(at: offset + 8) ^ pattern.bits.1) & pattern.mask.1
      | (bytes.word(at: offset + 16) ^ pattern.bits.2) & pattern.mask.2
    return difference == 0 ? pattern.length : 0
  }
}

/// Which member of an object was read last.
@usableFromInline
struct JSONMemberPlace {
  /// The place of the last name among the names; `nil` where it is none of them, or before the first.
  @usableFromInline var index: Int?
  var hasBegun = false

  @usableFromInline init() {}
}

extension JSONReader {
  /// Reads the beginning of an object or what is between two members, and the name of the next one.
  ///
  /// - Returns: whether there is a next one; else its end was read.
  @usableFromInline
  mutating func nextMember(among names: JSONNames, _ place: inout JSONMemberPlace) throws(Failure) -> Bool {
    var next = 0
    if place.hasBegun {
      guard skipByte(UInt8(ascii: ",")) || skip(UInt8(ascii: ",")) else {
        try expect(UInt8(ascii: "}"))
        return false
      }
      if let index = place.index { next = index + 1 }
    } else {
      if !skipByte(UInt8(ascii: "{")) { try expect(UInt8(ascii: "{")) }
      if skip(UInt8(ascii: "}")) { return false }
      place.hasBegun = true
    }
    place.index = try name(among: names, next)
    return true
  }

  /// Reads the name of a member, of which number `next` is the most likely, and the colon behind it.
  @inline(__always)
  private mutating func name(among names: JSONNames, _ next: Int) throws(Failure) -> Int? {
    let length = names.length(of: next, in: bytes, at: offset)
    if length > 0 {
      offset += length
      return next
    }
    let name = try string()
    try expect(UInt8(ascii: ":"))
    return names.index(of: name)
  }
}
