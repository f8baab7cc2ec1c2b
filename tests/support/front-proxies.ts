// nginx and Caddy with the samples of docs/operating.md, on ports of this machine, so that tests run what operators copy.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { freePort } from './ports.ts'
import { eventually } from './eventually.ts'
import { findProgram, type Program } from './programs.ts'

const PAGE = join(import.meta.dirname, '../../docs/operating.md')

export type FrontProxy = {
  readonly port: number
  /** Sends an HTTPS request with `name` in TLS and in Host. Rejects if the handshake fails. */
  ask(name: string, path: string, headers?: Record<string, string>): Promise<ProxiedAnswer>
  close(): Promise<void>
}
type ProxiedAnswer = { status: number; cookies: string[]; location: string | undefined; body: string }

/** The sample number `which` of this language on the page. */
export function sampleOf(language: 'nginx' | 'caddyfile', which = 0): string {
  const found = [...readFileSync(PAGE, 'utf8').matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))]
  const sample = found[which]?.[1]
  if (sample === undefined) throw new Error(`docs/operating.md has no sample ${which} for ${language}`)
  return sample
}

/** The reason to skip the test, or false. */
export function lacking(...programs: Program[]): string | false {
  if (process.env['SLUICE_TEST_ALL'] !== '1') return 'npm run test:all runs it'
  const missing = programs.filter(name => findProgram(name) === undefined)
  return missing.length > 0 && `${missing.join(' and ')} not installed: apt-get install ${missing.join(' ')}`
}

/** nginx with the sample, in front of Sluice on `upstream`. */
export async function startNginx(
  upstream: number,
  change = (sample: string) => sample,
  at?: number,
): Promise<FrontProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-nginx-'))
  const port = at ?? (await freePort())
  const [key, chain] = [join(folder, 'key.pem'), join(folder, 'chain.pem')]
  const names = ['-subj', '/CN=track.example', '-addext', 'subjectAltName=DNS:track.example,DNS:*.example']
  const made = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    ...names,
  ]
  execFileSync('openssl', [...made, '-keyout', key, '-out', chain], { stdio: 'ignore' })
  const sample = change(sampleOf('nginx'))
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/track.example.pem', chain)
    .replace('/etc/ssl/track.example.key', key)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${upstream}`)
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map(name => `${name}_temp_path ${folder}/${name};`)
    .join(' ')
  const conf = `daemon off; ${process.getuid?.() === 0 ? 'user root;' : ''} pid ${folder}/pid; error_log stderr;
events {} http { access_log off; ${temporary}\n${sample}\n}\n`
  writeFileSync(join(folder, 'nginx.conf'), conf)
  const child = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', join(folder, 'nginx.conf')], { stdio: 'ignore' })
  return await started(child, port, folder)
}

/** Caddy with a sample, in front of Sluice on `upstream`, with certificates of its own authority. */
export async function startCaddy(
  upstream: number,
  sample: string,
  { port: at, known = 'track.example' }: { port?: number; known?: string } = {},
): Promise<FrontProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-caddy-'))
  const [port, http] = [at ?? (await freePort()), await freePort()]
  const options = `admin off\n  local_certs\n  skip_install_trust\n  http_port ${http}\n  https_port ${port}\n`
  const changed = sample.replaceAll('127.0.0.1:8080', `127.0.0.1:${upstream}`)
  // If the sample has a global block, the test's options go into it.
  const conf = changed.startsWith('{') ? changed.replace('{\n', `{\n  ${options}`) : `{\n  ${options}}\n${changed}`
  writeFileSync(join(folder, 'Caddyfile'), conf)
  const env = { PATH: process.env['PATH'], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder }
  const child = spawn('caddy', ['run', '--adapter', 'caddyfile', '--config', join(folder, 'Caddyfile')], {
    env,
    stdio: 'ignore',
  })
  return await started(child, port, folder, known)
}

/** `known`: a name that the proxy serves. */
async function started(
  child: ChildProcess,
  port: number,
  folder: string,
  known = 'track.example',
): Promise<FrontProxy> {
  const proxy: FrontProxy = {
    port,
    ask: (name, path, headers = {}) => ask(port, name, path, headers),
    async close() {
      child.kill('SIGTERM')
      if (child.exitCode === null) await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
  await eventually('the proxy answers', async () => {
    if (child.exitCode !== null) throw new Error(`the proxy ended with ${child.exitCode}`)
    return await ask(port, known, '/healthz', {}).then(
      () => true,
      () => false,
    )
  })
  return proxy
}

async function ask(port: number, name: string, path: string, headers: Record<string, string>): Promise<ProxiedAnswer> {
  const sent = request({
    host: '127.0.0.1',
    port,
    path,
    servername: name,
    rejectUnauthorized: false,
    headers: { host: name, ...headers },
    agent: false,
  })
  const answered = once(sent, 'response')
  sent.end()
  const [answer] = (await answered) as [import('node:http').IncomingMessage]
  return {
    status: answer.statusCode ?? 0,
    cookies: answer.headers['set-cookie'] ?? [],
    location: answer.headers.location,
    body: await text(answer),
  }
}
