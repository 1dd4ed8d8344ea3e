/** A patch to files, one diff for each. */

import { readPatch } from '../../model/diff'
import { DiffView } from '../../parts/DiffView'

export function PatchView({ patch }: { patch: string }) {
  return readPatch(patch).map((file) => (
    <div key={file.file}>
      <div className="mono quiet">{file.file}</div>
      <DiffView rows={file.rows} />
    </div>
  ))
}
