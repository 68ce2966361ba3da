# Completes the command lines of tool in bash.

_tool_node() {
  children=()
  switches=()
  case "$1" in
    'tool')
      children=('fetch' 'ls' 'rm' 'backends' 'shift' 'help')
      switches=('-o' '--order' '--page' '-l' '--limit' '-a' '--all' '--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '--header' '--method' '-d' '--data' '--age' '--namespace' '--from' '--chunk' '--dry-run' '-h' '--help' '--version')
      ;;
    'tool fetch')
      children=('cities' 'url')
      switches=('-o' '--order' '--page' '-l' '--limit' '-a' '--all' '--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '--header' '--method' '-d' '--data' '-h' '--help')
      ;;
    'tool fetch cities')
      children=()
      switches=('-o' '--order' '--page' '-l' '--limit' '-a' '--all' '--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool fetch url')
      children=()
      switches=('--header' '--method' '-d' '--data' '--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool ls')
      children=()
      switches=('--age' '--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool rm')
      children=()
      switches=('--namespace' '--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool backends')
      children=('list' 'show')
      switches=('--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool backends list')
      children=()
      switches=('--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool backends show')
      children=()
      switches=('--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool shift')
      children=()
      switches=('--from' '--chunk' '--dry-run' '--config' '--backend' '--home' '--output' '-q' '--quiet' '-v' '--verbose' '--no-color' '-h' '--help')
      ;;
    'tool help')
      children=('fetch' 'ls' 'rm' 'backends' 'shift')
      switches=()
      ;;
    'tool help fetch')
      children=('cities' 'url')
      switches=()
      ;;
    'tool help backends')
      children=('list' 'show')
      switches=()
      ;;
  esac
}

_tool_value() {
  kind=''
  choices=()
  case "$1 $2" in
    *' -o' | *' --order') kind=words choices=('revenue' 'organizations' 'name') ;;
    *' --page' | *' -l' | *' --limit' | *' --header' | *' --method' | *' -d' | *' --data' | *' --age' | *' --from' | *' --chunk') kind=anything ;;
    *' --config') kind=file choices=('json' 'txt') ;;
    *' --backend') kind=words choices=('memory' 'sqlite' 'lmdb') ;;
    *' --home') kind=directory ;;
    *' --output') kind=words choices=('table' 'json' 'ndjson' 'csv') ;;
    *' --namespace') kind=asked choices=('namespaces') ;;
    *) return 1 ;;
  esac
}

_tool_argument() {
  kind=''
  choices=()
  case "$1 $2" in
    'tool fetch url '0) kind=anything ;;
    'tool ls '*) kind=file choices=() ;;
    'tool rm '*) kind=asked choices=('keys') ;;
    'tool backends show '0) kind=words choices=('memory' 'sqlite' 'lmdb') ;;
    *) ;;
  esac
}

_tool_words() {
  local word last index
  words=("${COMP_WORDS[0]}")
  for ((index = 1; index <= COMP_CWORD; index++)); do
    word="${COMP_WORDS[index]}"
    last=$((${#words[@]} - 1))
    if [[ $word == [=:]* && $last -gt 0 && ${words[last]} != -* ]] ||
      [[ ${COMP_WORDS[index - 1]} == [=:]* && ${words[last]} != "${COMP_WORDS[index - 1]}" ]]; then
      words[last]+="$word"
    else
      words+=("$word")
    fi
  done
  # What is before the word that bash replaces.
  current="${words[${#words[@]} - 1]}"
  if [[ $word == [=:]* && $word != "$current" ]]; then head="$current"; else head="${current%"$word"}"; fi
}

_tool_scan() {
  local word index
  for ((index = 1; index < ${#words[@]} - 1; index++)); do
    word="${words[index]}"
    if [[ $word == '=' ]]; then
      continue
    elif [[ -n $previous ]]; then
      previous=''
    elif [[ -n $ended ]]; then
      position=$((position + 1))
    elif [[ $word == '--' ]]; then
      ended=1
    elif [[ $word == -?* ]]; then
      if _tool_value "$node" "$word"; then previous="$word"; fi
    else
      _tool_node "$node"
      if [[ " ${children[*]} " == *" $word "* ]]; then node="$node $word"; else position=$((position + 1)); fi
    fi
  done
}

_tool_offer() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$prefix$word"); done < <(compgen "$@" -- "$current")
}

_tool_ask() {
  "${words[0]/#\~/$HOME}" __complete "${choices[0]}" "$current" "${words[@]:1:${#words[@]} - 2}" \
    2>/dev/null </dev/null
}

_tool_reply() {
  local word
  case "$kind" in
    words)
      for word in "${choices[@]}"; do
        if [[ $word == "$current"* ]]; then COMPREPLY+=("$prefix$word"); fi
      done
      ;;
    file)
      compopt -o filenames 2>/dev/null
      if [[ ${#choices[@]} -eq 0 ]]; then _tool_offer -f; return; fi
      _tool_offer -d
      for word in "${choices[@]}"; do _tool_offer -f -X "!*.$word"; done
      ;;
    directory)
      compopt -o filenames 2>/dev/null
      _tool_offer -d
      ;;
    asked)
      while IFS= read -r word; do
        if [[ $word == "$current"* ]]; then COMPREPLY+=("$prefix${word#"$head"}"); fi
      done < <(_tool_ask)
      ;;
  esac
}

_tool() {
  local node='tool' current='' head=''
  local previous='' ended='' position=0 prefix='' kind=''
  local words=() children=() switches=() choices=()
  COMPREPLY=()
  _tool_words
  _tool_scan
  _tool_node "$node"
  if [[ -n $previous ]]; then
    if [[ $current == '=' ]]; then current=''; fi
    _tool_value "$node" "$previous"
  elif [[ -z $ended && $current == --*=* ]]; then
    _tool_value "$node" "${current%%=*}"
    prefix="${current%%=*}="
    current="${current#*=}"
  elif [[ -z $ended && $current == -* ]]; then
    kind=words choices=("${switches[@]}")
  elif [[ ${#children[@]} -gt 0 ]]; then
    kind=words choices=("${children[@]}")
  else
    _tool_argument "$node" "$position"
  fi
  _tool_reply
}

complete -F _tool 'tool'
