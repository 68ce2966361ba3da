import CacheData
import CacheDomain
import EngineAPI
import Foundation
import HTTPCaching
import TestStorage
import Testing
@testable import CacheCore

struct CanonicalKeyTests {
  struct Request: CacheableRequest {
    static let resource = "things"
    var names: [String] = []
    var values: [String] = []
    var parameters: [(name: String, value: String)] { Array(zip(names, values)).map { ($0, $1) } }
  }

  @Test func twoParametersHaveTwoNames() throws {
    let request = Request(names: ["place", "day", "place"], values: ["Bern", "1", "Quito"])
    let error = try #require(throws: CacheError.self) { try CacheKey(for: request) }
    #expect(error.code == .invalidKey)
    #expect(error.message == "the resource 'things' has two parameters called 'place'")
  }

  /// A request with a secret, which is not a parameter.
  struct SecretRequest: CacheableRequest {
    static let resource = "things"
    let secret: String
    var parameters: [(name: String, value: String)] { [("page", "1")] }
  }

  @Test(arguments: [
    ([], [], "things/v1"), (["a"], [""], "things/v1/a="),
    (["sort", "order", "page"], ["desc", "revenue", "0"], "things/v1/order=revenue/page=0/sort=desc"),
    (["b", "B", "a1", "a"], ["1", "2", "3", "4"], "things/v1/B=2/a=4/a1=3/b=1"),
    (["path"], ["/a/b.png"], "things/v1/path=%2Fa%2Fb.png"), (["query"], ["the wire"], "things/v1/query=the%20wire"),
    (["query"], ["a=b&c/d?e#f%20+"], "things/v1/query=a%3Db%26c%2Fd%3Fe%23f%2520%2B"),
    (["query"], ["é€😀\u{0}\u{7F}"], "things/v1/query=%C3%A9%E2%82%AC%F0%9F%98%80%00%7F"),
    (["a b"], ["~-._"], "things/v1/a%20b=~-._"),
  ])
  func parametersAreSortedAndEncoded(names: [String], values: [String], expected: String) throws {
    #expect(try CacheKey(for: Request(names: names, values: values)).text == expected)
    let reversed = Request(names: names.reversed(), values: values.reversed())
    #expect(try CacheKey(for: reversed).text == expected)
  }

  @Test(arguments: [(0, true), (1, true), (-1, false)])
  func aKeyThatWouldBeTooLongIsAnInvalidRequest(spare: Int, fits: Bool) {
    let length = CacheKey.maximumRequestLength - "things/v1/q=".utf8.count - spare
    let request = Request(names: ["q"], values: [String(repeating: "x", count: length)])
    do throws(CacheError) {
      #expect(try CacheKey(for: request).text.utf8.count == CacheKey.maximumRequestLength - spare)
      #expect(fits)
    } catch {
      #expect(!fits)
      #expect(error.code == .invalidRequest)
      #expect(!error.hint.isEmpty)
      #expect(error.message.utf8.count < 200, "the message does not repeat what is too long")
    }
  }

  private struct MisnamedRequest: CacheableRequest {
    static let resource = "sea-tides"
    var parameters: [(name: String, value: String)] { [] }
  }

  @Test func aResourceThatCannotBeANamespaceIsNamed() {
    let error = #expect(throws: CacheError.self) { try CacheKey(for: MisnamedRequest()) }
    #expect(error?.code == .invalidKey && error?.message == "a resource cannot be called 'sea-tides'")
  }

  @Test func aLongQueryIsRefusedByReadingWritingAndFacts() async throws {
    let test = try await TestStore()
    let storage = EngineMoviesResponseStorage(store: test.store)
    let query = try #require(MovieQuery(String(repeating: "é", count: 3_000)))
    let request = MoviesRequestDTO(origin: "o", query: query, page: 1)
    let page = MoviesPageDTO(MoviesPage(page: 1, totalPages: 0, totalItems: 0, movies: []))
    let codes = await [
      errorCode { _ = try await storage.response(for: request) },
      errorCode { try await storage.store(page, head: test.head(), for: request) },
      errorCode { _ = try storage.key(for: request) },
    ]
    #expect(codes == [.invalidRequest, .invalidRequest, .invalidRequest])
    #expect(try await test.engine.count().entries == 0)
  }

  @Test func aSecretIsInNoKey() throws {
    let keys = try ["hunter2", "swordfish"].map { try CacheKey(for: SecretRequest(secret: $0)) }
    #expect(keys.map(\.text) == ["things/v1/page=1", "things/v1/page=1"])
  }

  @Test func theKeysOfTheResourcesAreTheseForEver() throws {
    let query = try #require(MovieQuery("the wire"))
    #expect(
      try CacheKey(for: CitiesRequestDTO(origin: "sample", query: CitiesQuery())).text
        == "cities/v1/order=revenue/origin=sample/page=0/sort=desc")
    #expect(
      try CacheKey(for: MoviesRequestDTO(origin: "sample", query: query, page: 1)).text
        == "movies/v1/origin=sample/page=1/query=the%20wire")
    #expect(
      try CacheKey(for: PosterRequestDTO(origin: "sample", query: PosterQuery(path: "7.png"))).text
        == "posters/v1/origin=sample/path=%2F7.png/width=342")
  }
}

/// The file with the key of digests of credentials.
struct CredentialKeyTests {
  private final class Folder {
    let path = NSTemporaryDirectory() + "credential-key-\(UUID().uuidString)"
    var file: String { "\(path)/home/a.key" }

    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  private static func digest(_ file: String) throws -> String {
    let request = HTTP.Request(url: "http://a.example/", fields: ["Cookie": "a=1"])
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

  /// A file that is not a key is not replaced.
  @Test(arguments: [0, 31, 33, 5_000]) func anotherFileIsLeftAlone(count: Int) throws {
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

  @Test func unreadableFilesAndImpossibleFoldersAreErrors() throws {
    let folder = Folder()
    try FileManager.default.createDirectory(atPath: folder.file, withIntermediateDirectories: true)
    #expect(failure(folder.file)?.message.contains(folder.file) == true, "a folder")
    try FileManager.default.createSymbolicLink(atPath: folder.path + "/link", withDestinationPath: "/dev/zero")
    #expect(failure(folder.path + "/link") != nil, "a link")
    #expect(failure("/dev/null/a.key") != nil)
  }
}
