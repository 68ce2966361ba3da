import Foundation
import EngineAPI
import Testing

@testable import CachectlTool
@testable import CacheConfiguration

struct ConfigurationHelperTests {
  @Test(arguments: [
    ("path", "PATH"), ("mapSize", "MAP_SIZE"), ("busyTimeout", "BUSY_TIMEOUT"), ("useTLS", "USE_TLS"),
    ("maxRetryCount", "MAX_RETRY_COUNT"), ("utf8", "UTF8"),
  ])
  func theNamesOfVariables(option: String, variable: String) {
    #expect(Setting.upperSnakeCase(option) == variable)
  }

  @Test func filesAreReadAbsentOrUnreadable() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "configuration-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0) }
    let file = folder.appending(path: "file")
    try Data(bytes).write(to: file)
    #expect(try ConfigurationFiles.contents(of: file.path()) == bytes)
    #expect(try ConfigurationFiles.contents(of: folder.appending(path: "none").path()) == nil)
    #expect(try ConfigurationFiles.contents(of: file.path() + "/below") == nil)
    let error = #expect(throws: ConfigurationError.self) { try ConfigurationFiles.contents(of: folder.path()) }
    #expect(error?.code == .unreadableFile)
    #expect(error?.message.hasPrefix(folder.path()) == true)
  }
}
