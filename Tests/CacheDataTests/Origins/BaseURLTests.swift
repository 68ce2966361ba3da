import CacheData
import FetchVocabulary
import Testing

struct BaseURLTests {
  @Test(arguments: [
    ("https://projects.propublica.org/", "propublica"), ("https://projects.propublica.org", "propublica"),
    ("HTTPS://Projects.ProPublica.org:443/", "propublica"),
    ("http://projects.propublica.org/", "propublica@projects.propublica.org:80"),
    ("https://projects.propublica.org:8443", "propublica@projects.propublica.org:8443"),
    ("http://127.0.0.1:8080", "propublica@127.0.0.1:8080"), ("http://localhost:80/", "propublica@localhost:80"),
    ("https://mirror.example/api", "propublica@mirror.example/api"), ("http://[::1]:9/", "propublica@[::1]:9"),
    ("https://Ä.example", "propublica@xn--4ca.example"), ("http://127.0.0.1:9", "propublica@127.0.0.1:9"),
    ("https://a.example/%7Eb/%c3", "propublica@a.example/~b/%C3"),
    ("https://a.example/b/../c", "propublica@a.example/c"),
    ("https://[0::1]", "propublica@[::1]"), ("https://a.example/é", "propublica@a.example/%C3%A9"),
    ("http://[::1]/", "propublica@[::1]:80"), ("https://[::1]/x", "propublica@[::1]/x"),
  ])
  func theNameTellsServersApart(url: String, name: String) throws {
    #expect(ProPublicaCityOrigin(try server(url)).name == name)
  }

  @Test func everyKindHasNamesOfItsOwn() throws {
    #expect(HTTPCityOrigin(try server("http://localhost:8080/cities")).name == "http@localhost:8080/cities")
    #expect(HTTPCityOrigin(try server(ProPublicaCityOrigin.address)).name == "http@projects.propublica.org")
    #expect(TMDBMovieOrigin(try server(TMDBMovieOrigin.address)).name == "tmdb")
    #expect(TMDBMovieOrigin(try server("https://proxy.example/tmdb")).name == "tmdb@proxy.example/tmdb")
    #expect(TMDBPosterOrigin(try server(TMDBPosterOrigin.address)).name == "tmdb")
    #expect(TMDBPosterOrigin(try server("http://localhost:1")).name == "tmdb@localhost:1")
  }

  @Test(arguments: [
    ("https://a.example", "https://a.example/t/p/w342/a.jpg"),
    ("https://a.example/", "https://a.example/t/p/w342/a.jpg"),
    ("https://a.example/b", "https://a.example/b/t/p/w342/a.jpg"),
    ("https://a.example/b//", "https://a.example/b/t/p/w342/a.jpg"),
    ("HTTP://ä.example:/%7eb/%2e/c", "http://xn--4ca.example/%7eb/c/t/p/w342/a.jpg"),
    ("http://A.example:80/B", "http://a.example/B/t/p/w342/a.jpg"),
    ("http://[::1]:8080/", "http://[::1]:8080/t/p/w342/a.jpg"),
  ])
  func aPathAndASlashAtTheEndAreAllowed(url: String, expected: String) throws {
    #expect(try TMDBPosterOrigin(server(url)).httpRequest(for: Asked.poster()).url == expected)
  }

  @Test(arguments: [
    ("https://a.example", "https://a.example/?page=0&order=revenue&sort=desc"),
    ("https://a.example/cities", "https://a.example/cities?page=0&order=revenue&sort=desc"),
    ("https://a.example/cities/", "https://a.example/cities/?page=0&order=revenue&sort=desc"),
  ])
  func theAddressItselfIsAskedAsItIs(url: String, expected: String) throws {
    #expect(try HTTPCityOrigin(server(url)).httpRequest(for: Asked.cities()).url == expected)
  }

  @Test(arguments: [
    "", "a.example", "ftp://a.example", "https://", "https:///x", "https://:80", "https://user:hunter2@a.example/",
    "https://a.example/?q=hunter2", "https://a.example/#hunter2", "https://a example/hunter2", "https://a／b.example/",
    "https://hunter2\\a.example/",
  ])
  func whatIsNoAddressIsRefusedWithoutBeingShown(url: String) throws {
    let error = try #require(throws: CacheError.self) { _ = try BaseURL(url) }
    #expect(error.code == .invalidRequest)
    #expect(!"\(error)".contains("hunter2"))
  }
}
