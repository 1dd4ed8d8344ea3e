# A small image: the binary with the page in it, the certificates of public authorities, and nothing else.
#
#   docker build -t lynceus .
#
FROM rust:1.95-alpine AS build
# Node builds the page, which is part of the binary.
RUN apk add --no-cache musl-dev gcc ca-certificates nodejs npm
WORKDIR /src
COPY . .
# musl is linked statically, so that the image needs no system below the binary.
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked --package lynceus-cli \
    && cp target/release/lynceus /lynceus \
    && mkdir -p /empty

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /lynceus /lynceus
# Writable by the user below; an installation mounts volumes over both.
COPY --from=build --chown=65532:65532 /empty /data
COPY --from=build --chown=65532:65532 /empty /tmp
USER 65532:65532
ENTRYPOINT ["/lynceus"]
CMD ["controller", "--data-dir=/data"]
