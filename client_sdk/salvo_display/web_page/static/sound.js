// Sounds of a salvo, made here; silent until somebody asks for them.

let context = null;
let noise = null;

export function toggle() {
  if (context) {
    context.close();
    context = null;
    return false;
  }
  context = new AudioContext();
  noise = context.createBuffer(1, context.sampleRate, context.sampleRate);
  const samples = noise.getChannelData(0);
  for (let index = 0; index < samples.length; index += 1) samples[index] = Math.random() * 2 - 1;
  play("miss");
  return true;
}

function swelling(volume, seconds) {
  const gain = context.createGain();
  const now = context.currentTime;
  gain.gain.setValueAtTime(volume, now);
  gain.gain.exponentialRampToValueAtTime(0.001, now + seconds);
  gain.connect(context.destination);
  return gain;
}

// Noise below a pitch, hertz, that falls.
function rush(from, to, volume, seconds) {
  const now = context.currentTime;
  const source = context.createBufferSource();
  const filter = context.createBiquadFilter();
  source.buffer = noise;
  filter.type = "lowpass";
  filter.frequency.setValueAtTime(from, now);
  filter.frequency.exponentialRampToValueAtTime(to, now + seconds);
  source.connect(filter).connect(swelling(volume, seconds));
  source.start(now);
  source.stop(now + seconds);
}

function tone(pitch, volume, seconds, after = 0, type = "triangle") {
  const start = context.currentTime + after;
  const oscillator = context.createOscillator();
  const gain = context.createGain();
  oscillator.type = type;
  oscillator.frequency.value = pitch;
  gain.gain.setValueAtTime(0.0001, start);
  gain.gain.exponentialRampToValueAtTime(volume, start + 0.02);
  gain.gain.exponentialRampToValueAtTime(0.0001, start + seconds);
  oscillator.connect(gain).connect(context.destination);
  oscillator.start(start);
  oscillator.stop(start + seconds);
}

const SOUNDS = {
  fire: () => rush(1800, 300, 0.12, 0.18),
  miss: () => rush(900, 200, 0.14, 0.22),
  hit: () => rush(500, 60, 0.5, 0.4),
  sunk: () => [196, 155.6, 130.8].forEach((pitch, step) => tone(pitch, 0.25, 0.5, step * 0.16)),
  won: () => [392, 493.9, 587.3, 784].forEach((pitch, step) => tone(pitch, 0.2, step === 3 ? 1.2 : 0.3, step * 0.16)),
};

export function play(what) {
  if (context) SOUNDS[what]();
}
