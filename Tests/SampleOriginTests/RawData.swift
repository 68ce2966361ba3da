import CZlib
import Foundation

/// The raw files that the embedded data is derived from.
enum RawData {
  /// The rows of organisations: `ein,name,city,state,ntee_code,subsection,revenue,tax_period`.
  static func organizations() throws -> [[String]] { try rows("organizations.csv.gz") }

  /// The rows of movies:
  /// `id,imdb_id,title,year,release_date,genres,box_office,runtime_min,director,language,country`.
  static func movies() throws -> [[String]] { try allMovies.get() }

  private static let allMovies = Result { try rows("movies.csv.gz") }

  struct CannotRead: Error {
    let path: String
  }

  private static func rows(_ name: String) throws -> [[String]] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Data")
    return CSV.rows(try inflated(folder.appendingPathComponent(name).path)).dropFirst().map { $0 }
  }

  private static func inflated(_ path: String) throws -> [UInt8] {
    guard let file = gzopen(path, "rb") else { throw CannotRead(path: path) }
    defer { gzclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = gzread(file, &buffer, UInt32(buffer.count))
      if count < 0 { throw CannotRead(path: path) }
      if count == 0 { return bytes }
      bytes += buffer[..<Int(count)]
    }
  }
}

/// Reads comma-separated values as RFC 4180 describes them.
enum CSV {
  static func rows(_ bytes: [UInt8]) -> [[String]] {
    var rows: [[String]] = []
    var row: [String] = []
    var field: [UInt8] = []
    var isQuoted = false
    var index = 0
    while index < bytes.count {
      let byte = bytes[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\"") where isQuoted && index < bytes.count && bytes[index] == byte:
        field.append(byte)
        index += 1
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: ",") where !isQuoted, UInt8(ascii: "\n") where !isQuoted:
        row.append(String(decoding: field, as: UTF8.self))
        field.removeAll(keepingCapacity: true)
        if byte == UInt8(ascii: "\n") {
          rows.append(row)
          row = []
        }
      default: field.append(byte)
      }
    }
    return rows
  }
}
