/** The same for many things, a few at a time: a browser has few connections, and a server other work. */

export type Outcome<T> = { item: T; error?: unknown }

export async function each<T>(items: T[], atOnce: number, run: (item: T) => Promise<unknown>, told: (outcome: Outcome<T>) => void): Promise<void> {
  const waiting = [...items]
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      const one = item
      told(await run(one).then(() => ({ item: one }), (error: unknown) => ({ item: one, error })))
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
}
