// The reference for the redirect: the same Fastify without anything behind it. It also receives the postbacks of the conversions.
import Fastify from 'fastify'

const app = Fastify({ logger: false, trustProxy: ['127.0.0.1'] })
app.get('/c/:key', (_request, reply) => {
  reply.code(302).header('location', 'https://offer.example/landing?click=01h455vb4pex5vsknk084sn02q').send()
})
app.get('/postback', (_request, reply) => {
  reply.code(200).send('OK')
})
console.log(`open at ${await app.listen({ port: 0, host: '127.0.0.1' })}`)
process.on('disconnect', () => process.exit())
