internal import Glibc

/// Reads pages of a data file that are far apart. Mapping each of them, with the pages around it, takes several times
/// as long.
final class LMDBBranchReader {
  private let descriptor: Int32
  /// One page buffer for each level of a tree, because the pages above stay in use.
  private var rooms: [Int: UnsafeMutableRawBufferPointer] = [:]

  /// Creates a reader of the open file `descriptor`.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { for room in rooms.values { room.deallocate() } }

  /// The page with the number `number`, valid until another page of the same level is read.
  func read(_ number: UInt64, size: Int, level: Int) throws(LMDBFault) -> UnsafeRawBufferPointer {
    let room = rooms[level] ?? UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    rooms[level] = room
    guard pread(descriptor, room.baseAddress, size, Int(number) * size) == size else {
      throw .damaged("page \(number) cannot be read")
    }
    return UnsafeRawBufferPointer(room)
  }
}
