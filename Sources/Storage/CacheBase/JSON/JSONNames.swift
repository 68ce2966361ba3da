/// The names of an object's members, prepared for comparison with a document, eight bytes at a time.
///
/// Make them once, as a constant: that costs about as much as reading one object.
public struct JSONNames: Sendable {
  /// A name in quotes with the colon after it, and a mask for its bits; of length zero if it is too long.
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

  /// Prepares names, in the order in which documents usually have them.
  public init(_ names: [String]) {
    self.names = names
    patterns = names.map { Pattern($0) }
  }

  /// The index of `name`; `nil` if it is not one of the names.
  func index(of name: String) -> Int? {
    for index in names.indices where names[index] == name { return index }
    return nil
  }

  /// The number of bytes that name number `index` takes at `offset`, with quotes and colon; zero if something else is
  /// there, or this fast comparison cannot tell.
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

/// The position in an object: which member was read last.
@usableFromInline
struct JSONMemberPlace {
  /// The index of the last name; `nil` before the first member, or if the name is not one of the names.
  @usableFromInline var index: Int?
  var hasBegun = false

  @usableFromInline init() {}
}

extension JSONReader {
  /// Reads the beginning of an object or a separator between members, and then the name of the next member.
  ///
  /// - Returns: whether there is a next member; if not, the end of the object has been read.
  @usableFromInline
  mutating func nextMember(among names: JSONNames, _ place: inout JSONMemberPlace) throws(Failure) -> Bool {
    var next = 0
    if place.hasBegun {
      guard skipByte(UInt8(ascii: ",")) || skip(UInt8(ascii: ",")) else {
        try close(UInt8(ascii: "}"))
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

  /// Reads a member's name, most likely number `next`, and the colon after it.
  @inline(__always)
  private mutating func name(among names: JSONNames, _ next: Int) throws(Failure) -> Int? {
    let length = names.length(of: next, in: bytes, at: offset)
    if length > 0 {
      offset += length
      return next
    }
    return names.index(of: try key())
  }
}
