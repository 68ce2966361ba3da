/// The names of an object's members, prepared for comparison with a document, eight bytes at a time.
///
/// Make them once, as a constant: that costs about as much as reading one object.
public struct JSONNames: Sendable {
  /// A name in quotes with the colon after it, as little-endian words, and a mask for its bits; of length zero if it is
  /// too long.
  private struct Pattern {
    var bits: InlineArray<3, UInt64> = [0, 0, 0]
    var mask: InlineArray<3, UInt64> = [0, 0, 0]
    var length = 0

    init(_ name: String) {
      var bytes: [UInt8] = []
      JSONString.append(name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      guard bytes.count <= JSONBytes.padding else { return }
      length = bytes.count
      for (index, byte) in bytes.enumerated() {
        bits[index / 8] |= UInt64(byte) << (index % 8 * 8)
        mask[index / 8] |= 0xFF << (index % 8 * 8)
      }
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
  func index(of name: String) -> Int? { names.firstIndex(of: name) }

  /// The number of bytes that name number `index` takes at `offset`, with quotes and colon; zero if something else is
  /// there, or this fast comparison cannot tell.
  @inline(__always)
  func length(of index: Int, in bytes: JSONBytes, at offset: Int) -> Int {
    guard index < patterns.count else { return 0 }
    let pattern = patterns[index]
    let difference =
      (bytes.word(at: offset) ^ pattern.bits[0]) & pattern.mask[0]
      | (bytes.word(at: offset + 8) ^ pattern.bits[1]) & pattern.mask[1]
      | (bytes.word(at: offset + 16) ^ pattern.bits[2]) & pattern.mask[2]
    return difference == 0 ? pattern.length : 0
  }
}

extension JSONReader {
  /// Reads the beginning of an object or a separator between members, and then the name of the next member.
  ///
  /// - Parameter index: the index of the last name, and then of the next one; `nil` before the first member, or if a name is
  ///   not one of the names.
  /// - Returns: whether there is a next member; if not, the end of the object has been read.
  @usableFromInline
  mutating func nextMember(among names: JSONNames, _ hasBegun: inout Bool, _ index: inout Int?) throws(Failure) -> Bool
  {
    guard try nextPart(from: UInt8(ascii: "{"), to: UInt8(ascii: "}"), &hasBegun) else { return false }
    index = try name(among: names, index.map { $0 + 1 } ?? 0)
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
