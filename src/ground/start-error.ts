/**
 * Sluice cannot start for a reason that the person who starts it can put right. The message is one line for them: what
 * is wrong, with which setting or folder, and what to do. It holds no secret.
 */
export class StartError extends Error {}
