internal import Glibc

// Measures two programs in turns, and prints one row of a Markdown table. Fails where one of them fails, or where they
// have not read the same.
// Arguments: METRIC LABEL ROUNDS TARGET [fresh TEMPLATE STORE] -- FLOOR... -- PROJECT...

do {
  let row = try Row(arguments: Array(CommandLine.arguments.dropFirst()))
  print(try row.measured())
} catch let mistake as Row.Mistake {
  fputs("Compare: \(mistake.message)\n", stderr)
  exit(64)
} catch {
  fputs("Compare: \(error)\n", stderr)
  exit(1)
}
