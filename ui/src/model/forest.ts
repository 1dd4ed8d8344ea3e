/** The resource tree of an application: who belongs to whom, and how it is below each. */

import type { Application, ResourceStatus, Tree, TreeNode } from '../api/types'
import { refText } from './manifest'
import { rank } from './status'

export interface Plant {
  id: string
  node: TreeNode
  /** What the Application says of it; only of what Git wants. */
  status?: ResourceStatus
  children: Plant[]
  parent?: Plant
  isOrphan: boolean
  /** The worst health at it and below it. */
  worst: number
  /** How many there are below it. */
  size: number
}

const FINE = rank('Healthy')

export const isFine = (plant: Plant) => plant.worst >= FINE && plant.status?.status !== 'OutOfSync'

/** Puts the nodes under their first parents. A circle of parents, which nothing forbids, is cut where it is met. */
export function forest(tree: Tree | undefined, app: Application | undefined): Plant[] {
  const plants = new Map<string, Plant>()
  const byUid = new Map<string, Plant>()
  const statuses = new Map((app?.status?.resources ?? []).map((one) => [refText(one), one]))
  const add = (node: TreeNode, isOrphan: boolean) => {
    const id = refText(node)
    if (plants.has(id)) return
    const status = statuses.get(id)
    const plant: Plant = { id, node, children: [], isOrphan, worst: FINE, size: 0, ...(status && { status }) }
    plants.set(id, plant)
    if (node.uid) byUid.set(node.uid, plant)
  }
  for (const node of tree?.nodes ?? []) add(node, false)
  for (const node of tree?.orphanedNodes ?? []) add(node, true)
  for (const one of app?.status?.resources ?? []) {
    // What is wanted and not there is in no cluster's tree, and is what people look for first. While nothing could be compared
    // or the cluster is away, a tree without it does not say that it is not there.
    const health = one.health ?? (one.status === 'OutOfSync' ? { status: 'Missing' } : undefined)
    if (!one.hook && !plants.has(refText(one))) add({ ...one, ...(health && { health }) }, false)
  }
  const roots: Plant[] = []
  for (const plant of plants.values()) {
    const parent = (plant.node.parentRefs ?? []).map((ref) => byUid.get(ref.uid ?? '') ?? plants.get(refText(ref))).find((one) => one && !isBelow(one, plant))
    if (parent) {
      plant.parent = parent
      parent.children.push(plant)
    } else roots.push(plant)
  }
  roots.forEach(measure)
  return inOrder(roots)
}

function isBelow(plant: Plant | undefined, top: Plant): boolean {
  for (let at = plant; at; at = at.parent) if (at === top) return true
  return false
}

function measure(plant: Plant): void {
  const own = plant.node.health?.status
  plant.worst = own ? rank(own) : FINE
  for (const child of plant.children) {
    measure(child)
    plant.worst = Math.min(plant.worst, child.worst)
    plant.size += child.size + 1
  }
  plant.children = inOrder(plant.children)
}

/** What is not well first, then what has something below it, then by kind and name. */
function inOrder(plants: Plant[]): Plant[] {
  const text = (plant: Plant) => `${plant.node.kind}/${plant.node.name}`
  return [...plants].sort((a, b) => Number(isFine(a)) - Number(isFine(b)) || Number(b.size > 0) - Number(a.size > 0) || (text(a) < text(b) ? -1 : 1))
}

export function* every(plants: Plant[]): Generator<Plant> {
  for (const plant of plants) {
    yield plant
    yield* every(plant.children)
  }
}
