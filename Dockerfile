# Portico as a container image: docs/operate/deploying.md#docker. `docker build -t portico .`
#
# The base images are those of these digests, whatever the tags name later; each is an index of the images for all processors. Docker publishes
# them in github.com/docker-library/repo-info (repos/NAME/remote/TAG.md), and `docker buildx imagetools inspect IMAGE` shows that of a newer one.
FROM node:24.21.0-bookworm-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS sources
WORKDIR /portico
COPY package.json package-lock.json .npmrc ./

# What `npm ci` makes outside an image: the console, the embedded databases that a first start copies, and the bundle of the service.
FROM sources AS build
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build:console && npm run build:databases && npm run build:service

# What runs. The image has its Node.js already, so the packaged one is left out; so is what only compilers, debuggers, readers, tests, browsers
# and other runtimes (Bare) use.
FROM sources AS dependencies
RUN npm ci --omit=dev --omit=optional --ignore-scripts \
  && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.bare' \
    -o -path '*/test/*' -o -path '*/tests/*' -o -path '*/pdfium/dist/*base64*' -o -path '*/@opentelemetry/*/build/es*/*' \
    -o \( -name '*.md' ! -iname '*license*' ! -iname '*notice*' \) \) -delete

# Text recognition of scans: of its engine and data only the files that are used.
FROM sources AS ocr
COPY deploy/ocr deploy/ocr
RUN npm run install:ocr \
  && find deploy/ocr/node_modules/tesseract.js-core -name 'tesseract-core*' ! -name 'tesseract-core-simd-lstm.*' -delete \
  && rm -r deploy/ocr/node_modules/@tesseract.js-data/*/4.0.0

# LanceDB adds 214 MB that only installations with search.engine lance need: `docker build --build-arg LANCE=1 -t portico .`
FROM sources AS lance
ARG LANCE=
COPY deploy/lance deploy/lance
RUN if [ -n "$LANCE" ]; then npm run install:lance; fi

# Debian with the Node.js binary, without npm and yarn: nothing in the running container installs packages.
FROM debian:bookworm-20260918-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251
ARG VERSION=0.8.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Portico" \
  org.opencontainers.image.description="Model gateway, document management and published Space chat behind one API key per organisation" \
  org.opencontainers.image.version="${VERSION}" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.documentation="file:///portico/docs/deploying.md"
COPY --from=sources /usr/local/bin/node /usr/local/bin/node
# A fixed number, for the owner of volumes and for `runAsUser`.
RUN groupadd --system --gid 10001 portico \
  && useradd --system --uid 10001 --gid portico --home-dir /data --shell /usr/sbin/nologin portico \
  && install --directory --owner=portico --group=portico --mode=0750 /data
WORKDIR /portico
COPY --from=dependencies /portico/node_modules node_modules
COPY --from=build /portico/dist dist
# A start compares the bundle with all that it was made from.
COPY package.json package-lock.json ./
COPY scripts/build-service.ts scripts/
COPY scripts/service-bundle/to-ascii.ts scripts/service-bundle/
COPY bin bin
COPY cli cli
COPY src src
COPY deploy/health-check.mjs deploy/
COPY --from=ocr /portico/deploy/ocr deploy/ocr
COPY --from=lance /portico/deploy/lance deploy/lance
# The root file system may be read-only: only /data and /tmp are written.
ENV NODE_ENV=production \
  HOST=0.0.0.0 \
  PORT=8080 \
  PORTICO_METRICS_HOST=0.0.0.0 \
  PORTICO_METRICS_PORT=9464 \
  PORTICO_DATA_DIR=/data \
  NODE_COMPILE_CACHE=/tmp/portico-compile-cache
USER 10001:10001
VOLUME /data
EXPOSE 8080 9464
# Is the process alive? For restarts; load balancers check /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 CMD ["node", "deploy/health-check.mjs", "/livez"]
STOPSIGNAL SIGTERM
# bin/run replaces its shell, so Portico is process 1 and receives the signals. It waits for the processes that it starts, which start no others:
# an init such as tini has nothing to do.
CMD ["bin/run", "src/main.ts"]
