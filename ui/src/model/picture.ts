/** The resource tree as a picture: what is shown, what is grouped or folded, and where each thing stands. */

import { every, isFine, type Plant } from './forest'

export interface Shown {
  id: string
  sort: 'root' | 'plant' | 'group'
  plant?: Plant
  /** What a group holds. */
  members: Plant[]
  /** How many are below it and not shown. */
  hidden: number
  isFolded: boolean
  parent?: string
  depth: number
  x: number
  y: number
}

export interface Wish {
  /** Groups and folded nodes that were opened by hand. */
  opened: Set<string>
  /** Nodes that were folded by hand. */
  folded: Set<string>
  /** What has to be seen, wherever it is. */
  needed?: Set<string>
}

export const SIZE = { width: 236, height: 50, across: 68, down: 10 }

/** From this many on, what is well is folded: nobody reads a thousand boxes. */
const MANY = 80
/** As many alike beside each other are counted and not shown. */
const ALIKE = 6
const ALIKE_IN_MANY = 4

export function picture(roots: Plant[], wish: Wish): Shown[] {
  const total = [...every(roots)].length
  const shown: Shown[] = []
  const root: Shown = { id: ROOT, sort: 'root', members: [], hidden: 0, isFolded: false, depth: 0, x: 0, y: 0 }
  shown.push(root)
  show(roots, root, { ...wish, isMany: total > MANY }, shown)
  place(shown)
  return shown
}

export const ROOT = 'application'

type Plan = Wish & { isMany: boolean }

function show(plants: Plant[], parent: Shown, plan: Plan, shown: Shown[]): void {
  const base = { parent: parent.id, depth: parent.depth + 1, x: 0, y: 0 }
  for (const some of together(plants, plan)) {
    const [first] = some
    if (!first) continue
    const groupId = `${parent.id}>${first.node.group ?? ''}/${first.node.kind}`
    if (some.length > 1 && !plan.opened.has(groupId)) {
      const hidden = some.reduce((sum, one) => sum + one.size, 0)
      shown.push({ ...base, id: groupId, sort: 'group', members: some, hidden, isFolded: true })
      continue
    }
    for (const plant of some) {
      const isFolded = plant.children.length > 0 && isFoldedAway(plant, plan)
      const self: Shown = { ...base, id: plant.id, sort: 'plant', plant, members: [], hidden: isFolded ? plant.size : 0, isFolded }
      shown.push(self)
      if (!isFolded) show(plant.children, self, plan, shown)
    }
  }
}

function isFoldedAway(plant: Plant, plan: Plan): boolean {
  if (plan.folded.has(plant.id)) return true
  if (plan.opened.has(plant.id)) return false
  return plan.isMany && isFine(plant) && !holds(plant, plan.needed)
}

function holds(plant: Plant, needed: Set<string> | undefined): boolean {
  return needed !== undefined && needed.size > 0 && [...every(plant.children)].some((one) => needed.has(one.id))
}

/** Puts those of one kind that are well together where they are many; what is not well always stands by itself. */
function together(plants: Plant[], plan: Plan): Plant[][] {
  const kinds = new Map<string, Plant[]>()
  const alone: Plant[][] = []
  for (const plant of plants) {
    const isAlone = !isFine(plant) || plan.needed?.has(plant.id) || holds(plant, plan.needed)
    const kind = `${plant.node.group ?? ''}/${plant.node.kind}`
    const known = kinds.get(kind)
    if (isAlone) alone.push([plant])
    else if (known) known.push(plant)
    else kinds.set(kind, [plant])
  }
  const limit = plan.isMany ? ALIKE_IN_MANY : ALIKE
  return alone.concat([...kinds.values()].flatMap((some) => (some.length >= limit ? [some] : some.map((one) => [one]))))
}

/** Layers from left to right; leaves below each other, and each parent at the middle of its children. */
function place(shown: Shown[]): void {
  const children = new Map<string, Shown[]>()
  for (const one of shown) {
    if (one.parent === undefined) continue
    const siblings = children.get(one.parent)
    if (siblings) siblings.push(one)
    else children.set(one.parent, [one])
  }
  let row = 0
  const put = (one: Shown): number => {
    one.x = one.depth * (SIZE.width + SIZE.across)
    const below = children.get(one.id) ?? []
    if (below.length === 0) one.y = row++ * (SIZE.height + SIZE.down)
    else {
      const places = below.map(put)
      one.y = ((places[0] ?? 0) + (places.at(-1) ?? 0)) / 2
    }
    return one.y
  }
  for (const one of shown) if (one.parent === undefined) put(one)
}

export interface View {
  x: number
  y: number
  zoom: number
}

/** Below this nobody reads what stands in a box; a picture that would need it begins at its upper left corner instead. */
const READABLE = 0.6
const EDGE = 24

/** Where to look from so that all is seen, in the middle, as far as it can still be read. */
export function fitted(boxes: { x: number; y: number }[], room: { width: number; height: number }): View {
  const wide = Math.max(...boxes.map((one) => one.x)) + SIZE.width
  const high = Math.max(...boxes.map((one) => one.y)) + SIZE.height
  const zoom = Math.min(1, (room.width - 2 * EDGE) / wide, (room.height - 2 * EDGE) / high)
  if (zoom < READABLE) return { x: EDGE, y: EDGE, zoom: room.width < 600 ? 0.7 : 0.8 }
  return { x: (room.width - wide * zoom) / 2, y: (room.height - high * zoom) / 2, zoom }
}
