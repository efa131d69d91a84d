# The image runs Parley against an external PostgreSQL: give it DATABASE_URL and PARLEY_SECRET_KEY.
#   docker build -t parley . && docker run -p 4000:4000 -e DATABASE_URL=… -e PARLEY_SECRET_KEY=… parley

FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY src/client/package.json src/client/
# The install scripts bring a second Node and link the embedded PostgreSQL; an image needs neither. The optional
# dependencies of the tools (the native TypeScript compiler) are needed until the build is done.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
# The image library comes as optional packages, one for each platform: these stay.
RUN npm run build && cp -r node_modules/@img /img && npm prune --ignore-scripts --omit=dev --omit=optional && cp -rT /img node_modules/@img

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY migrations ./migrations
# Files of messages: keep them in a volume, or set PARLEY_MEDIA_S3_BUCKET.
ENV PARLEY_MEDIA_DIR=/var/lib/parley/media
RUN mkdir -p /var/lib/parley/media && chown node: /var/lib/parley/media
VOLUME /var/lib/parley/media
USER node
EXPOSE 4000
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Why without the memory reducer: docs/operations.md, "Processes".
ENTRYPOINT ["node", "--no-memory-reducer", "dist/launch.js"]
CMD ["serve"]
