# Sluice with its embedded PostgreSQL in one container. All its data is in the volume /data.
FROM node:24-slim
WORKDIR /opt/sluice
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev
COPY . .
RUN npm run build && mkdir /data && chown node:node /data

# PostgreSQL does not run as root. This is the image's own user `node`.
USER 1000:1000
ENV HOST=0.0.0.0 PORT=8080 DATA_DIR=/data
VOLUME /data
EXPOSE 8080
# The first start creates the database, and the first start of a new version migrates it.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The command of `npm start`, without npm, so that signals reach it.
CMD ["node", "--max-semi-space-size=16", "--heap-growing-percent=100", "src/main.ts"]
