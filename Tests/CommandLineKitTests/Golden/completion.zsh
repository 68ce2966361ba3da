#compdef tool
# Completes the command lines of tool in zsh.

_tool_node() {
  children=()
  switches=()
  case "$1" in
    'tool')
      children=('fetch:Fetch a resource' 'ls:List entries' 'rm:Remove entries' 'backends:Show the engines' 'shift:Copy a store into another engine' 'help:Show the help of a command')
      switches=('-o:What to order the cities by, the greatest first unless told otherwise' '--order:What to order the cities by, the greatest first unless told otherwise' '--page:The page, from 0' '-l:How many to show' '--limit:How many to show' '-a:Show all pages' '--all:Show all pages' '--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '--header:A header to send' '--method:The method' '-d:The body' '--data:The body' '--age:Only entries of this age in hours, which may be negative' '--namespace:Only entries of this namespace' '--from:The engine to read' '--chunk:How many bytes at once' '--dry-run:Change nothing' '-h:Show this help' '--help:Show this help' '--version:Show the version')
      ;;
    'tool fetch')
      children=('cities:Show cities, ordered' 'url:Fetch any URL')
      switches=('-o:What to order the cities by, the greatest first unless told otherwise' '--order:What to order the cities by, the greatest first unless told otherwise' '--page:The page, from 0' '-l:How many to show' '--limit:How many to show' '-a:Show all pages' '--all:Show all pages' '--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '--header:A header to send' '--method:The method' '-d:The body' '--data:The body' '-h:Show this help' '--help:Show this help')
      ;;
    'tool fetch cities')
      children=()
      switches=('-o:What to order the cities by, the greatest first unless told otherwise' '--order:What to order the cities by, the greatest first unless told otherwise' '--page:The page, from 0' '-l:How many to show' '--limit:How many to show' '-a:Show all pages' '--all:Show all pages' '--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool fetch url')
      children=()
      switches=('--header:A header to send' '--method:The method' '-d:The body' '--data:The body' '--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool ls')
      children=()
      switches=('--age:Only entries of this age in hours, which may be negative' '--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool rm')
      children=()
      switches=('--namespace:Only entries of this namespace' '--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool backends')
      children=('list:List the engines' 'show:Show an engine')
      switches=('--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool backends list')
      children=()
      switches=('--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool backends show')
      children=()
      switches=('--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool shift')
      children=()
      switches=('--from:The engine to read' '--chunk:How many bytes at once' '--dry-run:Change nothing' '--config:The configuration to use' '--backend:The engine to use' '--home:Where stores live' '--output:How to write the answer' '-q:Say nothing but errors' '--quiet:Say nothing but errors' '-v:Say more' '--verbose:Say more' '--no-color:Use no colour' '-h:Show this help' '--help:Show this help')
      ;;
    'tool help')
      children=('fetch:Fetch a resource' 'ls:List entries' 'rm:Remove entries' 'backends:Show the engines' 'shift:Copy a store into another engine')
      switches=()
      ;;
    'tool help fetch')
      children=('cities:Show cities, ordered' 'url:Fetch any URL')
      switches=()
      ;;
    'tool help backends')
      children=('list:List the engines' 'show:Show an engine')
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

_tool_scan() {
  local word index
  for ((index = 2; index < CURRENT; index++)); do
    word=${(Q)words[index]}
    if [[ -n $previous ]]; then
      previous=''
    elif [[ -n $ended ]]; then
      position=$((position + 1))
    elif [[ $word == '--' ]]; then
      ended=1
    elif [[ $word == -?* ]]; then
      if _tool_value "$node" "$word"; then previous=$word; fi
    else
      _tool_node "$node"
      if [[ -n ${(M)children:#$word(|:*)} ]]; then node="$node $word"; else position=$((position + 1)); fi
    fi
  done
}

_tool_reply() {
  case $kind in
    words) compadd -- "${choices[@]}" ;;
    file)
      if (( ! $#choices )); then _files; return; fi
      choices=("*."${^choices})
      _files -g "$choices"
      ;;
    directory) _files -/ ;;
    asked)
      program=${(Q)words[1]}
      words=("${(@Q)words[2,CURRENT-1]}")
      choices=(${(f)"$(
        ${program/#\~/$HOME} __complete $choices[1] "${(Q)PREFIX}" "${words[@]}" 2>/dev/null </dev/null
      )"})
      compadd -- "${choices[@]}"
      ;;
  esac
}

_tool() {
  local node='tool' previous='' ended='' position=0 kind='' program
  local -a children switches choices
  _tool_scan
  _tool_node "$node"
  if [[ -n $previous ]]; then
    _tool_value "$node" "$previous"
  elif [[ -z $ended && $PREFIX == --*=* ]]; then
    _tool_value "$node" "${PREFIX%%=*}"
    compset -P 1 '*='
  elif [[ -z $ended && $PREFIX == -* ]]; then
    _describe -o option switches
    return
  elif (( $#children )); then
    _describe command children
    return
  else
    _tool_argument "$node" "$position"
  fi
  _tool_reply
}

if [[ $funcstack[1] == _tool ]]; then _tool "$@"; else compdef _tool 'tool'; fi
