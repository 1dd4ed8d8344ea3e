module lynceus/oracle-rbac

go 1.25

require (
	github.com/casbin/casbin/v2 v2.135.0
	github.com/gobwas/glob v0.2.3
)

require (
	github.com/bmatcuk/doublestar/v4 v4.6.1 // indirect
	github.com/casbin/govaluate v1.3.0 // indirect
	github.com/google/uuid v1.6.0 // indirect
)
