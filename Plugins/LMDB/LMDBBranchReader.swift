internal import Glibc

/// Reads pages of a data file that lie far apart: to have the system map each of them, with those around it, takes
/// several times as long.
final class LMDBBranchReader {
  private let descriptor: Int32
  /// One page for each level of a tree, because those above are still in use.
  private var rooms: [Int: UnsafeMutableRawBufferPointer] = [:]

  /// A reader of the open file `descriptor`.
  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { for room in rooms.values { room.deallocate() } }

  /// The page with the given number, valid until another one of its level is read.
  func read(_ number: UInt64, size: Int, level: Int) throws(LMDBFault) -> UnsafeRawBufferPointer {
    let room = rooms[level] ?? UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
    rooms[level] = room
    guard pread(descriptor, room.baseAddress, size, Int(number) * size) == size else {
      throw .damaged("page \(number) cannot be read")
    }
    return UnsafeRawBufferPointer(room)
  }
}
