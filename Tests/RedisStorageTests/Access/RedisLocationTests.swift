import EngineAPI
import Testing

@testable import RedisStorage

@Suite("URLs")
struct RedisLocationTests {
  @Test(arguments: [
    ("redis://127.0.0.1:6379", "redis://127.0.0.1:6379"), ("REDIS://cache", "redis://cache:6379"),
    ("redis://cache/2", "redis://cache:6379/2"), ("redis://cache:7000/", "redis://cache:7000"),
    ("redis://[::1]:7000/1", "redis://[::1]:7000/1"), ("redis://[::1]", "redis://[::1]:6379"),
    ("redis://a:7000,redis://b:7001", "redis://a:7000,b:7001"), ("redis://a,b,c:1", "redis://a:6379,b:6379,c:1"),
    ("unix:///run/redis.sock", "unix:///run/redis.sock"), ("unix:///a b@c?db=2", "unix:///a b@c?db=2"),
    ("unix:///a?db=0", "unix:///a"), ("rediss://cache", "rediss://cache:6379"),
    ("rediss://a:7000,rediss://b/3", "rediss://a:7000,b:6379/3"),
    ("redis-sentinel://a#main", "redis-sentinel://a:26379#main"),
    ("rediss-sentinel://a:1,b/2#my-master", "rediss-sentinel://a:1,b:26379/2#my-master"),
  ])
  func accepted(_ url: String, _ expected: String) throws {
    #expect(try RedisLocation(url: url).description == expected)
  }

  @Test(arguments: [
    "", "127.0.0.1", "redis:", "redis://", "redis://:6379", "redis://a:", "redis://a:0", "redis://a:65536",
    "redis://a:x", "redis://a/x", "redis://a/-1", "redis://a,", "redis://,a", "redis://[::1", "redis://a b",
    "http://a", "redis-sentinel://a", "redis-sentinel://a#", "redis-sentinel://#main", "redis-sentinel://a#a b",
    "redis://a,rediss://b", "rediss://user:secret@a", "redis-sentinel://:secret@a#main", "redis://user:secret@a",
    "redis://a,:secret@b", "unix://", "unix:///",
    "unix://run/redis.sock", "unix:///a?db=", "unix:///a?db=-1", "unix:///a?password=secret", "unix:///a?db=1&x=2",
    "unix:///" + String(repeating: "a", count: 120),
  ])
  func refused(_ url: String) {
    let error = #expect(throws: CacheError.self) { try RedisLocation(url: url) }
    #expect(error?.code == .invalidOption)
    #expect(error?.description.contains("secret") == false)
  }

  @Test("A password never shows in what describes a store")
  func noSecrets() throws {
    let options = try options("redis://a/1", ["password": .text("secret"), "prefix": .text("shop")])
    #expect(options.description == "redis://a:6379/1 (shop)")
  }
}
