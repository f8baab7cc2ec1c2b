/**
 * Loaded before node:test, which follows every promise of the process to know the test it belongs to. That takes a tenth of the processor time of
 * a room's tests, and is only needed while an asynchronous suite registers its tests. So node:test follows promises here only when asked to. An
 * error that no test awaits then fails the process instead of the test.
 */
import asyncHooks, { type AsyncHook, createHook } from 'node:async_hooks'

let hook: AsyncHook | undefined
let isFollowing = false

Object.assign(asyncHooks, {
  createHook({ init }: { init: () => void }) {
    Object.assign(asyncHooks, { createHook })
    // Without `destroy`, because the end of each promise is what costs most.
    hook = createHook({ init })
    return { enable: () => void (isFollowing && hook?.enable()), disable() {} }
  },
})

/** From now on node:test knows for every promise which suite it belongs to. */
export function follow(): void {
  isFollowing = true
  hook?.enable()
}

/** Ends what `follow` began. */
export function unfollow(): void {
  isFollowing = false
  hook?.disable()
}
