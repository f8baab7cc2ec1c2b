// The program of a host that is a web page: the client of the protocol's own SDK in the browser, with its state in the tab.
import {
  Client,
  type OAuthClientInformationMixed,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'

const { searchParams, origin, pathname } = new URL(location.href)
const address = searchParams.get('connect') ?? sessionStorage.getItem('address') ?? ''
sessionStorage.setItem('address', address)

function kept<T>(name: string): { read: () => T | undefined; write: (value: T) => void } {
  return {
    read() {
      const text = sessionStorage.getItem(name)
      return text === null ? undefined : (JSON.parse(text) as T)
    },
    write: value => sessionStorage.setItem(name, JSON.stringify(value)),
  }
}

const client = kept<OAuthClientInformationMixed>('client')
const tokens = kept<OAuthTokens>('tokens')
const verifier = kept<string>('verifier')
const discovered = kept<OAuthDiscoveryState>('discovered')
const redirectUrl = origin + pathname

const provider: OAuthClientProvider = {
  redirectUrl,
  clientMetadata: { client_name: 'Web page host', redirect_uris: [redirectUrl] },
  clientInformation: client.read,
  saveClientInformation: client.write,
  tokens: tokens.read,
  saveTokens: tokens.write,
  redirectToAuthorization: url => location.assign(url),
  codeVerifier: () => verifier.read() ?? '',
  saveCodeVerifier: verifier.write,
  discoveryState: discovered.read,
  saveDiscoveryState: discovered.write,
}

async function run(): Promise<string> {
  const open = () => new StreamableHTTPClientTransport(new URL(address), { authProvider: provider })
  if (searchParams.has('code')) await open().finishAuth(searchParams)
  const host = new Client({ name: 'web-page-host', version: '1' })
  await host.connect(open())
  const { tools } = await host.listTools()
  const week = { dimension: 'day', date_from: '2026-01-05', date_to: '2026-01-12' }
  const { content } = await host.callTool({ name: 'service_get_report', arguments: week })
  const foreign = new URL('/api/api-keys', address)
  const keys = await fetch(foreign, { credentials: 'include' }).then(
    () => 'read',
    () => 'unreadable',
  )
  return JSON.stringify({ tools: tools.length, content, keys })
}

run().then(
  said => {
    document.body.textContent = said
  },
  (error: unknown) => {
    if (!(error instanceof UnauthorizedError)) document.body.textContent = `failed: ${String(error)}`
  },
)
