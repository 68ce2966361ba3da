internal import CacheDomain

/// The embedded data of a movie: one line, split at the tabs.
struct MovieRecord: Sendable, Hashable {
  /// The number of the Wikidata item.
  let id: String
  /// The title.
  let title: String
  /// The year of release.
  let year: String
  /// The day of release; empty if only the year is known.
  let releaseDate: String
  /// The genres.
  let genres: [String]
  /// Its box office, usually in US dollars; `nil` if unknown.
  let boxOffice: Int?
  /// Its running time in minutes; `nil` if unknown.
  let runtime: Int?
  /// The directors.
  let directors: [String]
  /// The languages.
  let languages: [String]
  /// The countries.
  let countries: [String]

  /// The record in `line`; `nil` if the line does not have ten fields.
  init?(line: String) {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    guard fields.count == 10 else { return nil }
    id = fields[0]
    title = fields[1]
    year = fields[2]
    releaseDate = fields[3]
    genres = fields[4].split(separator: "|").map(String.init)
    boxOffice = Int(fields[5])
    runtime = Int(fields[6])
    directors = Self.names(fields[7])
    languages = Self.names(fields[8])
    countries = Self.names(fields[9])
  }

  /// The movie for this record, with an overview made of its facts.
  var movie: Movie {
    let date = releaseDate.isEmpty ? year : releaseDate
    return Movie(
      id: id, title: title, overview: MovieOverview.text(of: self), releaseDate: date.isEmpty ? nil : date,
      posterPath: "/\(id).png", genres: genres)
  }

  /// Names separated by a comma and a space. The "Jr." in "George Tillman, Jr." is not a name of its own.
  private static func names(_ field: String) -> [String] {
    var names: [String] = []
    for name in field.split(separator: ",") {
      let name = String(name.drop { $0 == " " })
      if let last = names.last, name == "Jr." || name == "Sr." {
        names[names.count - 1] = "\(last), \(name)"
      } else {
        names.append(name)
      }
    }
    return names
  }
}
