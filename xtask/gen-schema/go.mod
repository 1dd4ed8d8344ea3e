module lynceus/gen-schema

go 1.24
