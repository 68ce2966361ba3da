import CacheCore
import Foundation
import HTTPCaching
import Testing

/// The file with the key of digests of credentials.
struct CredentialKeyTests {
  private final class Folder {
    let path = NSTemporaryDirectory() + "credential-key-\(UUID().uuidString)"
    var file: String { "\(path)/home/a.key" }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private static func digest(_ file: String) throws -> String {
    let request = HTTPRequest(url: "http://a.example/", fields: ["Cookie": "a=1"])
    return try #require(VariantSelector(response: [:], request: request, key: CredentialKey(file: file))).digest
  }

  private func failure(_ file: String) -> CacheError? {
    do throws(CacheError) {
      try CredentialKey(file: file).require()
      return nil
    } catch { return error }
  }

  @Test func theFirstUseCreatesItForTheUserAlone() throws {
    let (folder, other) = (Folder(), Folder())
    let digests = try (1...3).map { _ in try Self.digest(folder.file) }
    #expect(Set(digests).count == 1)
    #expect(try Self.digest(other.file) != digests[0])
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/home") == ["a.key"])
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file)).count == 32)
    for (path, mode) in [(folder.file, 0o600), (folder.path + "/home", 0o700)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: path)
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }

  @Test func manyThatCreateItHaveTheSame() async throws {
    let folder = Folder()
    let digests = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<20 { group.addTask { [file = folder.file] in try Self.digest(file) } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(digests.count == 1)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/home") == ["a.key"])
  }

  /// What is there and is no key is not replaced.
  @Test(arguments: [0, 31, 33, 5_000])
  func anotherFileIsLeftAlone(count: Int) throws {
    let folder = Folder()
    try FileManager.default.createDirectory(atPath: folder.path + "/home", withIntermediateDirectories: true)
    let content = Data(repeating: 1, count: count)
    try content.write(to: URL(fileURLWithPath: folder.file))
    let error = try #require(failure(folder.file))
    #expect(error.code == .ioFailed && error.message.contains(folder.file) && !error.hint.isEmpty)
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder.file)) == content)
  }

  @Test func aFailureIsNotKept() throws {
    let folder = Folder()
    try FileManager.default.createDirectory(atPath: folder.file, withIntermediateDirectories: true)
    let key = CredentialKey(file: folder.file)
    #expect(throws: CacheError.self) { try key.require() }
    try FileManager.default.removeItem(atPath: folder.file)
    try key.require()
  }

  @Test func whatCannotBeReadOrCreatedIsAnError() throws {
    let folder = Folder()
    try FileManager.default.createDirectory(atPath: folder.file, withIntermediateDirectories: true)
    #expect(failure(folder.file)?.message.contains(folder.file) == true, "a folder")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "/dev/zero")
    #expect(failure(folder.path + "/link") != nil, "a link")
    #expect(failure("/dev/null/a.key") != nil)
  }
}
