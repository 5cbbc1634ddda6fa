/** Where a picture stands on its stage: its scale, and how far its middle is from that of the stage. */
export interface Place {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

export const AT_REST: Place = { scale: 1, x: 0, y: 0 };
const LARGEST = 8;

/** Enlarged or made smaller around a point that stays where it is; at rest it is whole and in the middle. */
export function zoomed(place: Place, factor: number, around: Point): Place {
  const scale = Math.min(LARGEST, place.scale * factor);
  if (scale <= 1) return AT_REST;
  const by = scale / place.scale;
  return { scale, x: around.x - (around.x - place.x) * by, y: around.y - (around.y - place.y) * by };
}

export function moved(place: Place, x: number, y: number): Place {
  return { ...place, x: place.x + x, y: place.y + y };
}
